"""Questions over a shop and a school: the statement of each that is certain, and each refusal."""

from datetime import date

import pytest
from plan_worlds import SCHOOL, SCHOOL_VALUES, SHOP, SHOP_VALUES

from redask.core.planning.plan import Certain, NotComputed, Unclear, plan

TODAY = date(2026, 3, 15)
SHOP_CERTAIN = [
    (
        "What are the names of customers that placed the most orders?",
        "top",
        (
            "SELECT customers.customer_name FROM orders JOIN customers ON orders.customer_id = "
            "customers.customer_id GROUP BY customers.customer_id, customers.customer_name "
            "ORDER BY count(*) DESC NULLS LAST FETCH FIRST 1 ROWS WITH TIES"
        ),
    ),
    (
        "Which customers placed more than 2 orders?",
        "comparison",
        (
            "SELECT customers.customer_name FROM customers WHERE (SELECT count(*) FROM orders "
            "WHERE customers.customer_id = orders.customer_id) > 2"
        ),
    ),
    ("Show the max speeds and ranks.", "list", "SELECT DISTINCT max_speed, rank FROM products"),
    (
        "What is the average weight for each category?",
        "group",
        "SELECT category, avg(weight) FROM products GROUP BY category",
    ),
    (
        "Which category is the most common?",
        "top",
        (
            "SELECT category FROM products GROUP BY category ORDER BY count(*) DESC NULLS LAST "
            "FETCH FIRST 1 ROWS WITH TIES"
        ),
    ),
    (
        "What are the names of products and the names of suppliers that they are supplied by?",
        "list",
        (
            'SELECT products.product_name, suppliers."name" FROM products JOIN suppliers ON '
            "products.supplier_id = suppliers.supplier_id"
        ),
    ),
    (
        "How many customers live in Brazil or in France?",
        "count",
        "SELECT count(*) FROM customers WHERE (country = 'Brazil' OR country = 'France')",
    ),
    (
        "How many customers are from Brazil or older than 30?",
        "count",
        "SELECT count(*) FROM customers WHERE (country = 'Brazil' OR age > 30)",
    ),
    (
        "How many customers have orders whose status is paid or whose total is over 5?",
        "count",
        (
            "SELECT count(*) FROM customers WHERE EXISTS (SELECT 1 FROM orders WHERE "
            "customers.customer_id = orders.customer_id AND (orders.status = 'paid' OR "
            "orders.total > 5))"
        ),
    ),
    (
        "What is the share of customers from Brazil?",
        "share",
        "SELECT avg(CASE WHEN country = 'Brazil' THEN 1.0 ELSE 0 END) AS share FROM customers",
    ),
    (
        "What percentage of customers are active?",
        "share",
        "SELECT avg(CASE WHEN is_active = true THEN 100.0 ELSE 0 END) AS percentage FROM customers",
    ),
    ("How many customers are there?", "count", "SELECT count(*) FROM customers"),
    (
        "How many customers live in Brazil?",
        "count",
        "SELECT count(*) FROM customers WHERE country = 'Brazil'",
    ),
    (
        "Count the number of customers from France or Belgium.",
        "count",
        "SELECT count(*) FROM customers WHERE country IN ('France', 'Belgium ')",
    ),
    (
        "How many different cities do the customers come from?",
        "count",
        "SELECT count(DISTINCT city) FROM customers",
    ),
    (
        "What are the names and ages of customers?",
        "list",
        "SELECT customer_name, age FROM customers",
    ),
    (
        "List the names of customers older than 30.",
        "comparison",
        "SELECT customer_name FROM customers WHERE age > 30",
    ),
    (
        "List the names of customers who are over 30 years old.",
        "comparison",
        "SELECT customer_name FROM customers WHERE age > 30",
    ),
    (
        "List the names of customers who are not 30 years old.",
        "negation",
        "SELECT customer_name FROM customers WHERE age <> 30",
    ),
    ("What is the average age of customers?", "average", "SELECT avg(age) FROM customers"),
    (
        "What are the minimum, average and maximum price of products?",
        "minimum",
        "SELECT min(price), avg(price), max(price) FROM products",
    ),
    (
        "What is the average price and weight of products?",
        "average",
        "SELECT avg(price), avg(weight) FROM products",
    ),
    (
        "Show the names of products whose price is above the average.",
        "comparison",
        "SELECT product_name FROM products WHERE price > (SELECT avg(price) FROM products)",
    ),
    (
        "Show the names of products with a price higher than the average price.",
        "comparison",
        "SELECT product_name FROM products WHERE price > (SELECT avg(price) FROM products)",
    ),
    (
        "Show the names of products with more than the average price.",
        "comparison",
        "SELECT product_name FROM products WHERE price > (SELECT avg(price) FROM products)",
    ),
    (
        "Which product has the highest price?",
        "top",
        (
            "SELECT product_name FROM products ORDER BY price DESC NULLS LAST FETCH FIRST 1 ROWS "
            "WITH TIES"
        ),
    ),
    (
        "What is the name of the most expensive product?",
        "top",
        (
            "SELECT product_name FROM products ORDER BY price DESC NULLS LAST FETCH FIRST 1 ROWS "
            "WITH TIES"
        ),
    ),
    (
        "What are the names of the 3 most expensive products?",
        "top",
        (
            "SELECT product_name FROM products ORDER BY price DESC NULLS LAST FETCH FIRST 3 ROWS "
            "WITH TIES"
        ),
    ),
    (
        "What are the names of the 3 products with the highest price?",
        "top",
        (
            "SELECT product_name FROM products ORDER BY price DESC NULLS LAST FETCH FIRST 3 ROWS "
            "WITH TIES"
        ),
    ),
    (
        "What are the names of the products with the top 3 prices?",
        "top",
        (
            "SELECT product_name FROM products ORDER BY price DESC NULLS LAST FETCH FIRST 3 ROWS "
            "WITH TIES"
        ),
    ),
    (
        "What is the most common category of products?",
        "top",
        (
            "SELECT category FROM products GROUP BY category ORDER BY count(*) DESC NULLS LAST "
            "FETCH FIRST 1 ROWS WITH TIES"
        ),
    ),
    (
        "Which category is the most common among products?",
        "top",
        (
            "SELECT category FROM products GROUP BY category ORDER BY count(*) DESC NULLS LAST "
            "FETCH FIRST 1 ROWS WITH TIES"
        ),
    ),
    (
        "Show each category and the number of products in each category.",
        "group",
        "SELECT category, count(*) FROM products GROUP BY category",
    ),
    (
        "What are the categories and how many products correspond to each one?",
        "group",
        "SELECT category, count(*) FROM products GROUP BY category",
    ),
    (
        "For each category, what is the average price of products?",
        "group",
        "SELECT category, avg(price) FROM products GROUP BY category",
    ),
    (
        "What is the average price of products for each category?",
        "group",
        "SELECT category, avg(price) FROM products GROUP BY category",
    ),
    (
        "Which categories have at least 2 products?",
        "group",
        "SELECT category FROM products GROUP BY category HAVING count(*) >= 2",
    ),
    (
        "Show the categories of products with an average price above 10.",
        "group",
        "SELECT category FROM products GROUP BY category HAVING avg(price) > 10",
    ),
    (
        "Show the name of each customer and the number of orders.",
        "group",
        (
            "SELECT customers.customer_name, count(*) FROM orders JOIN customers ON "
            "orders.customer_id = customers.customer_id GROUP BY customers.customer_id, "
            "customers.customer_name"
        ),
    ),
    (
        "What are the names of customers who have more than 2 orders?",
        "comparison",
        (
            "SELECT customers.customer_name FROM customers WHERE (SELECT count(*) FROM orders "
            "WHERE customers.customer_id = orders.customer_id) > 2"
        ),
    ),
    (
        "What are the names of customers with no orders?",
        "negation",
        (
            "SELECT customers.customer_name FROM customers WHERE NOT EXISTS (SELECT 1 FROM "
            "orders WHERE customers.customer_id = orders.customer_id)"
        ),
    ),
    (
        "What are the names of customers who have orders?",
        "filter",
        (
            "SELECT customers.customer_name FROM customers WHERE EXISTS (SELECT 1 FROM orders "
            "WHERE customers.customer_id = orders.customer_id)"
        ),
    ),
    (
        "Show the names of customers without any order.",
        "negation",
        (
            "SELECT customers.customer_name FROM customers WHERE NOT EXISTS (SELECT 1 FROM "
            "orders WHERE customers.customer_id = orders.customer_id)"
        ),
    ),
    (
        "Which customer has the most orders?",
        "top",
        (
            "SELECT customers.customer_name FROM orders JOIN customers ON orders.customer_id = "
            "customers.customer_id GROUP BY customers.customer_id, customers.customer_name ORDER "
            "BY count(*) DESC NULLS LAST FETCH FIRST 1 ROWS WITH TIES"
        ),
    ),
    (
        "What are the names of customers who placed an order?",
        "filter",
        (
            "SELECT customers.customer_name FROM customers WHERE EXISTS (SELECT 1 FROM orders "
            "WHERE customers.customer_id = orders.customer_id)"
        ),
    ),
    (
        "What are the names of customers with orders whose status is paid?",
        "filter",
        (
            "SELECT customers.customer_name FROM customers WHERE EXISTS (SELECT 1 FROM orders "
            "WHERE customers.customer_id = orders.customer_id AND orders.status = 'paid')"
        ),
    ),
    (
        'What are the names of customers that do not have orders whose status is "paid"?',
        "negation",
        (
            "SELECT customers.customer_name FROM customers WHERE NOT EXISTS (SELECT 1 FROM "
            "orders WHERE customers.customer_id = orders.customer_id AND orders.status = 'paid')"
        ),
    ),
    (
        "How many orders are not paid?",
        "negation",
        "SELECT count(*) FROM orders WHERE status <> 'paid'",
    ),
    (
        'How many orders have a status that is not "on hold"?',
        "negation",
        "SELECT count(*) FROM orders WHERE status <> 'On-Hold'",
    ),
    (
        "List the ids of orders whose total is between 10 and 20.",
        "comparison",
        "SELECT order_id FROM orders WHERE (total >= 10 AND total <= 20)",
    ),
    (
        "How many customers joined in March 2019?",
        "count",
        (
            "SELECT count(*) FROM customers WHERE (joined_date >= '2019-03-01' AND joined_date < "
            "'2019-04-01')"
        ),
    ),
    (
        "How many customers joined before 12 March 2019?",
        "count",
        "SELECT count(*) FROM customers WHERE joined_date < '2019-03-12'",
    ),
    (
        "How many customers have a joined date of yesterday?",
        "count",
        (
            "SELECT count(*) FROM customers WHERE (joined_date >= '2026-03-14' AND joined_date < "
            "'2026-03-15')"
        ),
    ),
    (
        "List the names of suppliers opened in 2001 or later.",
        "comparison",
        'SELECT "name" FROM suppliers WHERE open_year >= 2001',
    ),
    (
        "List the names of suppliers opened after the year 1999.",
        "date_range",
        'SELECT "name" FROM suppliers WHERE open_year > 1999',
    ),
    (
        "List the names of suppliers opened in year 1999 or 2001.",
        "date_range",
        'SELECT "name" FROM suppliers WHERE open_year IN (1999, 2001)',
    ),
    (
        "List the names of customers in alphabetical order.",
        "list",
        "SELECT customer_name FROM customers ORDER BY customer_name ASC, customer_id ASC",
    ),
    (
        "List the names of customers in descending order of age.",
        "list",
        "SELECT customer_name FROM customers ORDER BY age DESC NULLS LAST, customer_id ASC",
    ),
    (
        "List the names of customers sorted by age from high to low.",
        "list",
        "SELECT customer_name FROM customers ORDER BY age DESC NULLS LAST, customer_id ASC",
    ),
    (
        "List the names of customers ordered by age descending.",
        "list",
        "SELECT customer_name FROM customers ORDER BY age DESC NULLS LAST, customer_id ASC",
    ),
    (
        "List the names and cities of customers, sorted by city.",
        "list",
        "SELECT customer_name, city FROM customers ORDER BY city ASC, customer_id ASC",
    ),
    (
        'Which product names contain "Chair"?',
        "filter",
        "SELECT product_name FROM products WHERE product_name ILIKE '%Chair%'",
    ),
    (
        'What are the names of products whose name starts with "Re"?',
        "filter",
        "SELECT product_name FROM products WHERE product_name ILIKE 'Re%'",
    ),
    (
        "How many products have the word 'Chair' in their names?",
        "count",
        "SELECT count(*) FROM products WHERE product_name ILIKE '%Chair%'",
    ),
    (
        'What is the phone number of the customer named "Ann Lee"?',
        "filter",
        "SELECT phone_number FROM customers WHERE customer_name = 'Ann Lee'",
    ),
    (
        "What is the age of customer Ann Lee?",
        "filter",
        "SELECT age FROM customers WHERE customer_name = 'Ann Lee'",
    ),
    (
        "Show all information about suppliers.",
        "list",
        'SELECT supplier_id, "name", country, open_year FROM suppliers',
    ),
    ("Show all categories.", "list", "SELECT DISTINCT category FROM products"),
    (
        "How many customers are active?",
        "count",
        "SELECT count(*) FROM customers WHERE is_active = true",
    ),
    ("What is the sum of quantity?", "sum", "SELECT sum(quantity) FROM order_items"),
    (
        'What is the number of colours of the product "Red Chair"?',
        "filter",
        "SELECT num_colours FROM products WHERE product_name = 'Red Chair'",
    ),
    (
        "Which products have the largest number of colours?",
        "top",
        (
            "SELECT product_name FROM products ORDER BY num_colours DESC NULLS LAST FETCH FIRST "
            "1 ROWS WITH TIES"
        ),
    ),
    (
        "How many active customers are there?",
        "count",
        "SELECT count(*) FROM customers WHERE is_active = true",
    ),
    (
        "How many customers are not active?",
        "count",
        "SELECT count(*) FROM customers WHERE is_active = false",
    ),
    ("What are the names of clients?", "list", "SELECT customer_name FROM customers"),
    (
        "List the names of products ordered by the number of colours in descending order.",
        "list",
        ("SELECT product_name FROM products ORDER BY num_colours DESC NULLS LAST, product_id ASC"),
    ),
    (
        "What are the categories of products sorted by the number of products?",
        "group",
        "SELECT category FROM products GROUP BY category ORDER BY count(*) ASC, category ASC",
    ),
    (
        "What is the price of the products with the 2 lowest weights?",
        "top",
        "SELECT price FROM products ORDER BY weight ASC FETCH FIRST 2 ROWS WITH TIES",
    ),
    (
        "Which product is the cheapest?",
        "top",
        "SELECT product_name FROM products ORDER BY price ASC FETCH FIRST 1 ROWS WITH TIES",
    ),
    (
        "What are the names of products that are in the Toys category?",
        "filter",
        "SELECT product_name FROM products WHERE category = 'Toys'",
    ),
    (
        "What are the names of products in category Furniture or Toys?",
        "filter",
        "SELECT product_name FROM products WHERE category IN ('Furniture', 'Toys')",
    ),
    (
        'What are the names of products not in the "Toys" category?',
        "negation",
        "SELECT product_name FROM products WHERE category <> 'Toys'",
    ),
    (
        "Which customers do not live in Paris?",
        "negation",
        "SELECT customer_name FROM customers WHERE city <> 'Paris'",
    ),
    (
        "Which customers live neither in Paris nor in Ghent?",
        "negation",
        "SELECT customer_name FROM customers WHERE city <> 'Paris' AND city <> 'Ghent'",
    ),
    (
        "What are the names of products with price more than 10 and weight less than 5?",
        "comparison",
        "SELECT product_name FROM products WHERE price > 10 AND weight < 5",
    ),
    (
        "What are the names of products with both price more than 10 and weight less than 5?",
        "comparison",
        "SELECT product_name FROM products WHERE price > 10 AND weight < 5",
    ),
    (
        "How many products are there for each category and rank?",
        "group",
        "SELECT category, rank, count(*) FROM products GROUP BY category, rank",
    ),
    (
        "What are the names of customers who live in a city that is Paris?",
        "filter",
        "SELECT customer_name FROM customers WHERE city = 'Paris'",
    ),
    ("What is the max speed of products?", "list", "SELECT max_speed FROM products"),
    (
        "What is the average max speed of products?",
        "average",
        "SELECT avg(max_speed) FROM products",
    ),
    ("Show the total price of products.", "sum", "SELECT sum(price) FROM products"),
    ("What are the locations of stores?", "list", 'SELECT "Location" FROM store_detail'),
    (
        "How many stores are located in OR?",
        "count",
        "SELECT count(*) FROM store_detail WHERE \"Location\" = 'OR'",
    ),
    (
        "Which supplier has the most products? Show the name and country.",
        "top",
        (
            'SELECT suppliers."name", suppliers.country FROM products JOIN suppliers ON '
            "products.supplier_id = suppliers.supplier_id GROUP BY suppliers.supplier_id, "
            'suppliers."name", suppliers.country ORDER BY count(*) DESC NULLS LAST FETCH FIRST 1 '
            "ROWS WITH TIES"
        ),
    ),
    (
        "List the distinct categories of products whose price is at least 5.",
        "comparison",
        "SELECT DISTINCT category FROM products WHERE price >= 5",
    ),
    (
        "What are the names of products which cost more than 10 in price?",
        "comparison",
        "SELECT product_name FROM products WHERE price > 10",
    ),
    ("What is the latest order date?", "maximum", "SELECT max(order_date) FROM orders"),
    (
        "Which customer is the oldest?",
        "top",
        (
            "SELECT customer_name FROM customers ORDER BY age DESC NULLS LAST FETCH FIRST 1 ROWS "
            "WITH TIES"
        ),
    ),
    (
        "What is the id of the order with the latest order date?",
        "latest",
        (
            "SELECT order_id FROM orders ORDER BY order_date DESC NULLS LAST FETCH FIRST 1 ROWS "
            "WITH TIES"
        ),
    ),
    (
        "What is the id of the order with the earliest shipped date?",
        "top",
        "SELECT order_id FROM orders ORDER BY shipped_date ASC FETCH FIRST 1 ROWS WITH TIES",
    ),
    (
        "How many orders have an order date before 2020?",
        "count",
        "SELECT count(*) FROM orders WHERE order_date < '2020-01-01'",
    ),
    (
        "How many orders have an order date in 2019 or later?",
        "count",
        "SELECT count(*) FROM orders WHERE order_date >= '2019-01-01'",
    ),
    (
        "How many orders have an order date between 2019-01-01 and 2019-02-28?",
        "count",
        (
            "SELECT count(*) FROM orders WHERE (order_date >= '2019-01-01' AND order_date < "
            "'2019-03-01')"
        ),
    ),
    (
        "How many customers joined this month?",
        "count",
        (
            "SELECT count(*) FROM customers WHERE (joined_date >= '2026-03-01' AND joined_date < "
            "'2026-04-01')"
        ),
    ),
    (
        "How many customers joined last month?",
        "count",
        (
            "SELECT count(*) FROM customers WHERE (joined_date >= '2026-02-01' AND joined_date < "
            "'2026-03-01')"
        ),
    ),
    (
        "How many customers joined today?",
        "count",
        (
            "SELECT count(*) FROM customers WHERE (joined_date >= '2026-03-15' AND joined_date < "
            "'2026-03-16')"
        ),
    ),
    (
        "How many customers joined this year?",
        "count",
        (
            "SELECT count(*) FROM customers WHERE (joined_date >= '2026-01-01' AND joined_date < "
            "'2027-01-01')"
        ),
    ),
    (
        "What are the names of suppliers whose open year is this year?",
        "date_range",
        'SELECT "name" FROM suppliers WHERE open_year = 2026',
    ),
    (
        "What is the status of the order with id 5?",
        "filter",
        "SELECT status FROM orders WHERE order_id = 5",
    ),
    (
        "What are the ids of orders with customer id 7?",
        "filter",
        "SELECT order_id FROM orders WHERE customer_id = 7",
    ),
    (
        'What are the names of customers whose name contains the letter "a"?',
        "filter",
        "SELECT customer_name FROM customers WHERE customer_name ILIKE '%a%'",
    ),
    (
        "How many products are heavier than 5?",
        "count",
        "SELECT count(*) FROM products WHERE weight > 5",
    ),
    (
        "How many products are lighter than 5?",
        "count",
        "SELECT count(*) FROM products WHERE weight < 5",
    ),
    (
        "How many products cost more than the maximum price?",
        "count",
        "SELECT count(*) FROM products WHERE price > (SELECT max(price) FROM products)",
    ),
    ("For each customer, show the name.", "list", "SELECT customer_name FROM customers"),
    ("Show each customer name.", "list", "SELECT customer_name FROM customers"),
    (
        "Show the name of customers and the average total of orders.",
        "group",
        (
            "SELECT customers.customer_name, avg(orders.total) FROM orders JOIN customers ON "
            "orders.customer_id = customers.customer_id GROUP BY customers.customer_id, "
            "customers.customer_name"
        ),
    ),
    (
        "What are the names of customers with exactly 2 orders?",
        "comparison",
        (
            "SELECT customers.customer_name FROM customers WHERE (SELECT count(*) FROM orders "
            "WHERE customers.customer_id = orders.customer_id) = 2"
        ),
    ),
    (
        "What are the names of customers with 2 or more orders?",
        "comparison",
        (
            "SELECT customers.customer_name FROM customers WHERE (SELECT count(*) FROM orders "
            "WHERE customers.customer_id = orders.customer_id) >= 2"
        ),
    ),
    (
        "What are the names of customers who do not have more than 2 orders?",
        "comparison",
        (
            "SELECT customers.customer_name FROM customers WHERE (SELECT count(*) FROM orders "
            "WHERE customers.customer_id = orders.customer_id) <= 2"
        ),
    ),
    (
        "What are the names of products that have orders whose status is paid?",
        "filter",
        (
            "SELECT products.product_name FROM products WHERE EXISTS (SELECT 1 FROM order_items "
            "JOIN orders ON order_items.order_id = orders.order_id WHERE products.product_id = "
            "order_items.product_id AND orders.status = 'paid')"
        ),
    ),
    (
        "Which customers have an order?",
        "filter",
        (
            "SELECT customers.customer_name FROM customers WHERE EXISTS (SELECT 1 FROM orders "
            "WHERE customers.customer_id = orders.customer_id)"
        ),
    ),
    (
        "How many orders do customers from Brazil have?",
        "count",
        (
            "SELECT count(*) FROM orders WHERE EXISTS (SELECT 1 FROM customers WHERE "
            "orders.customer_id = customers.customer_id AND customers.country = 'Brazil')"
        ),
    ),
    (
        "What are the names of the top 3 customers with the most orders?",
        "top",
        (
            "SELECT customers.customer_name FROM orders JOIN customers ON orders.customer_id = "
            "customers.customer_id GROUP BY customers.customer_id, customers.customer_name ORDER "
            "BY count(*) DESC NULLS LAST FETCH FIRST 3 ROWS WITH TIES"
        ),
    ),
    ("What is the number of products?", "count", "SELECT count(*) FROM products"),
    (
        "What is the total number of colours of products?",
        "sum",
        "SELECT sum(num_colours) FROM products",
    ),
    (
        "What are the most common cities of customers?",
        "top",
        (
            "SELECT city FROM customers GROUP BY city ORDER BY count(*) DESC NULLS LAST FETCH "
            "FIRST 1 ROWS WITH TIES"
        ),
    ),
    (
        "What is the 2 most common cities of customers, and how many are there?",
        "top",
        (
            "SELECT city, count(*) FROM customers GROUP BY city ORDER BY count(*) DESC NULLS "
            "LAST FETCH FIRST 2 ROWS WITH TIES"
        ),
    ),
    (
        "What are the cities of customers with an average age of more than 30?",
        "group",
        "SELECT city FROM customers GROUP BY city HAVING avg(age) > 30",
    ),
    (
        'What are the names of customers whose city is "Atlantis"?',
        "filter",
        "SELECT customer_name FROM customers WHERE city = 'Atlantis'",
    ),
    (
        'What are the names of customers whose age is "30"?',
        "filter",
        "SELECT customer_name FROM customers WHERE age = 30",
    ),
    ("How many messages are there?", "count", "SELECT count(*) FROM messages"),
    (
        "How many customers never had a paid order?",
        "negation",
        (
            "SELECT count(*) FROM customers WHERE NOT EXISTS (SELECT 1 FROM orders WHERE "
            "customers.customer_id = orders.customer_id AND orders.status = 'paid')"
        ),
    ),
    (
        "What are the names of customers that have no orders and whose age is 30?",
        "negation",
        (
            "SELECT customers.customer_name FROM customers WHERE customers.age = 30 AND NOT "
            "EXISTS (SELECT 1 FROM orders WHERE customers.customer_id = orders.customer_id)"
        ),
    ),
    (
        "What are the names of products without a supplier?",
        "negation",
        (
            "SELECT products.product_name FROM products WHERE NOT EXISTS (SELECT 1 FROM "
            "suppliers WHERE products.supplier_id = suppliers.supplier_id)"
        ),
    ),
    (
        "What are the names of products without suppliers from Japan?",
        "negation",
        (
            "SELECT products.product_name FROM products WHERE NOT EXISTS (SELECT 1 FROM "
            "suppliers WHERE products.supplier_id = suppliers.supplier_id AND suppliers.country "
            "= 'Japan')"
        ),
    ),
    (
        "What are the names of products of the supplier Acme?",
        "filter",
        (
            "SELECT products.product_name FROM products WHERE EXISTS (SELECT 1 FROM suppliers "
            "WHERE products.supplier_id = suppliers.supplier_id AND suppliers.\"name\" = 'Acme')"
        ),
    ),
    (
        "What are the names of products whose supplier name is Acme?",
        "filter",
        (
            "SELECT products.product_name FROM products WHERE EXISTS (SELECT 1 FROM suppliers "
            "WHERE products.supplier_id = suppliers.supplier_id AND suppliers.\"name\" = 'Acme')"
        ),
    ),
    (
        "How many products have suppliers?",
        "count",
        (
            "SELECT count(*) FROM products WHERE EXISTS (SELECT 1 FROM suppliers WHERE "
            "products.supplier_id = suppliers.supplier_id)"
        ),
    ),
    (
        "What are the names of products that are in the Toys category of products?",
        "filter",
        "SELECT product_name FROM products WHERE category = 'Toys'",
    ),
    (
        "What are the names of products whose category is Toys category?",
        "filter",
        "SELECT product_name FROM products WHERE category = 'Toys'",
    ),
    (
        "How many suppliers opened before the year of 1999?",
        "count",
        "SELECT count(*) FROM suppliers WHERE open_year < 1999",
    ),
    (
        "List the names of customers in descending order by age.",
        "list",
        "SELECT customer_name FROM customers ORDER BY age DESC NULLS LAST, customer_id ASC",
    ),
    ("What are the names of the different products?", "list", "SELECT product_name FROM products"),
    (
        "What are the cities of customers and the number of customers in that city?",
        "group",
        "SELECT city, count(*) FROM customers GROUP BY city",
    ),
    (
        "How many orders are paid or total?",
        "count",
        "SELECT count(*) FROM orders WHERE status IN ('paid', 'total')",
    ),
    (
        "How many suppliers are newer than 1999?",
        "count",
        "SELECT count(*) FROM suppliers WHERE open_year > 1999",
    ),
    (
        "What are the names of customers who have orders and more than 2 orders?",
        "comparison",
        (
            "SELECT customers.customer_name FROM customers WHERE (SELECT count(*) FROM orders "
            "WHERE customers.customer_id = orders.customer_id) > 2"
        ),
    ),
    (
        "What are the names of products without orders?",
        "negation",
        (
            "SELECT products.product_name FROM products WHERE NOT EXISTS (SELECT 1 FROM "
            "order_items JOIN orders ON order_items.order_id = orders.order_id WHERE "
            "products.product_id = order_items.product_id)"
        ),
    ),
    (
        "What are the names of products without order items whose quantity is 3?",
        "negation",
        (
            "SELECT products.product_name FROM products WHERE NOT EXISTS (SELECT 1 FROM "
            "order_items WHERE products.product_id = order_items.product_id AND "
            "order_items.quantity = 3)"
        ),
    ),
    (
        "What are the names of products without orders whose status is paid?",
        "negation",
        (
            "SELECT products.product_name FROM products WHERE NOT EXISTS (SELECT 1 FROM "
            "order_items JOIN orders ON order_items.order_id = orders.order_id WHERE "
            "products.product_id = order_items.product_id AND orders.status = 'paid')"
        ),
    ),
    (
        "Show the prices and weights with product rank 3.",
        "filter",
        "SELECT price, weight FROM products WHERE rank = 3",
    ),
    (
        "What are the names of customers with order items whose quantity is 3?",
        "filter",
        (
            "SELECT customers.customer_name FROM customers WHERE EXISTS (SELECT 1 FROM orders "
            "JOIN order_items ON orders.order_id = order_items.order_id WHERE "
            "customers.customer_id = orders.customer_id AND order_items.quantity = 3)"
        ),
    ),
    (
        (
            "What are the names of customers who have no orders with order items whose quantity "
            "is 3?"
        ),
        "negation",
        (
            "SELECT customers.customer_name FROM customers WHERE NOT EXISTS (SELECT 1 FROM "
            "orders JOIN order_items ON orders.order_id = order_items.order_id WHERE "
            "customers.customer_id = orders.customer_id AND order_items.quantity = 3)"
        ),
    ),
    (
        "What are the names of customers whose total is 5 with orders?",
        "filter",
        (
            "SELECT customers.customer_name FROM customers WHERE EXISTS (SELECT 1 FROM orders "
            "WHERE customers.customer_id = orders.customer_id AND orders.total = 5)"
        ),
    ),
    (
        "How many customers joined up to 2019?",
        "count",
        "SELECT count(*) FROM customers WHERE joined_date < '2020-01-01'",
    ),
    (
        "How many customers joined no later than 2019?",
        "count",
        "SELECT count(*) FROM customers WHERE joined_date < '2020-01-01'",
    ),
    (
        "How many customers joined equal to 2019?",
        "count",
        (
            "SELECT count(*) FROM customers WHERE (joined_date >= '2019-01-01' AND joined_date < "
            "'2020-01-01')"
        ),
    ),
    (
        "How many customers joined exactly 2019-01-05?",
        "count",
        (
            "SELECT count(*) FROM customers WHERE (joined_date >= '2019-01-05' AND joined_date < "
            "'2019-01-06')"
        ),
    ),
    (
        "How many customers joined since 2019?",
        "count",
        "SELECT count(*) FROM customers WHERE joined_date >= '2019-01-01'",
    ),
    (
        "Which customers have a city other than Paris?",
        "negation",
        "SELECT customer_name FROM customers WHERE city <> 'Paris'",
    ),
    (
        "What are the names of customers who placed orders?",
        "filter",
        (
            "SELECT customers.customer_name FROM customers WHERE EXISTS (SELECT 1 FROM orders "
            "WHERE customers.customer_id = orders.customer_id)"
        ),
    ),
    (
        "What are the names of suppliers who supplied in the Furniture products?",
        "filter",
        (
            'SELECT suppliers."name" FROM suppliers WHERE EXISTS (SELECT 1 FROM products WHERE '
            "suppliers.supplier_id = products.supplier_id AND products.category = 'Furniture')"
        ),
    ),
    (
        'How many customers have an age equal to "30"?',
        "count",
        "SELECT count(*) FROM customers WHERE age = 30",
    ),
    (
        "List the distinct categories of products in alphabetical order.",
        "list",
        "SELECT DISTINCT category FROM products ORDER BY category ASC",
    ),
    (
        "List the distinct categories and ranks of products, sorted by rank.",
        "list",
        "SELECT DISTINCT category, rank FROM products ORDER BY rank ASC, category ASC",
    ),
]
SCHOOL_CERTAIN = [
    (
        "What are the full names of students?",
        "list",
        'SELECT "Fname", "LName" FROM "Student"',
    ),
    (
        "What are the names and ages of students?",
        "list",
        'SELECT "Fname", "LName", "Age" FROM "Student"',
    ),
    (
        "Show the ids of students whose first name is Linda or last name is Smith.",
        "filter",
        """SELECT "StuID" FROM "Student" WHERE ("Fname" = 'Linda' OR "LName" = 'Smith')""",
    ),
    ("What are the names of events?", "list", "SELECT title FROM events"),
    (
        "How many female students are there?",
        "count",
        'SELECT count(*) FROM "Student" WHERE "Sex" = \'F\'',
    ),
    (
        "How many students live in HKG or CHI?",
        "count",
        "SELECT count(*) FROM \"Student\" WHERE city_code IN ('HKG', 'CHI')",
    ),
    (
        "What are the first and last names of all students?",
        "list",
        'SELECT "Fname", "LName" FROM "Student"',
    ),
    (
        "Show the last name of the youngest student.",
        "top",
        'SELECT "LName" FROM "Student" ORDER BY "Age" ASC FETCH FIRST 1 ROWS WITH TIES',
    ),
    (
        "Show the first name of the tallest student.",
        "top",
        (
            'SELECT "Fname" FROM "Student" ORDER BY "Height" DESC NULLS LAST FETCH FIRST 1 ROWS '
            "WITH TIES"
        ),
    ),
    (
        "What are the last names of students in the Physics department?",
        "filter",
        (
            'SELECT "Student"."LName" FROM "Student" WHERE EXISTS (SELECT 1 FROM department '
            'WHERE "Student".dept_name = department.dept_name AND department.dept_name = '
            "'Physics')"
        ),
    ),
    (
        "How many students are in the Comp. Sci. department?",
        "count",
        "SELECT count(*) FROM \"Student\" WHERE dept_name = 'Comp. Sci.'",
    ),
    (
        "Which department has the most students?",
        "top",
        (
            'SELECT dept_name FROM "Student" GROUP BY dept_name ORDER BY count(*) DESC NULLS '
            "LAST FETCH FIRST 1 ROWS WITH TIES"
        ),
    ),
    ("What are the names of clubs?", "list", 'SELECT "cName" FROM "Ref_Clubs"'),
    ("Who is the director of the club?", "list", 'SELECT DISTINCT "Directed_by" FROM "Ref_Clubs"'),
    (
        "How many courses does the Physics department have?",
        "count",
        (
            "SELECT count(*) FROM course WHERE EXISTS (SELECT 1 FROM department WHERE "
            "course.dept_name = department.dept_name AND department.dept_name = 'Physics')"
        ),
    ),
    (
        "What are the titles of events started in 2019?",
        "comparison",
        "SELECT title FROM events WHERE (start >= '2019-01-01' AND start < '2020-01-01')",
    ),
    (
        "Show the ids of students whose first name is Linda and last name is Smith.",
        "filter",
        'SELECT "StuID" FROM "Student" WHERE "Fname" = \'Linda\' AND "LName" = \'Smith\'',
    ),
    (
        "Give the buildings of departments with a budget of more than 1,000.5.",
        "comparison",
        "SELECT building FROM department WHERE budget > 1000.5",
    ),
    (
        "What are the names of departments with the lowest budget?",
        "top",
        "SELECT dept_name FROM department ORDER BY budget ASC FETCH FIRST 1 ROWS WITH TIES",
    ),
    (
        "What is the title of the course World History?",
        "filter",
        "SELECT title FROM course WHERE title = 'World History'",
    ),
    (
        "What are the names of departments that have no courses?",
        "negation",
        (
            "SELECT department.dept_name FROM department WHERE NOT EXISTS (SELECT 1 FROM course "
            "WHERE department.dept_name = course.dept_name)"
        ),
    ),
    (
        'What are the names of departments with courses whose title is "World History"?',
        "filter",
        (
            "SELECT department.dept_name FROM department WHERE EXISTS (SELECT 1 FROM course "
            "WHERE department.dept_name = course.dept_name AND course.title = 'World History')"
        ),
    ),
    (
        "What are the titles of courses with the most credits?",
        "top",
        ("SELECT title FROM course ORDER BY credits DESC NULLS LAST FETCH FIRST 1 ROWS WITH TIES"),
    ),
    ("How many takes have grade A?", "count", "SELECT count(*) FROM takes WHERE grade = 'A'"),
    ("How many takes were in 2019?", "count", 'SELECT count(*) FROM takes WHERE "year" = 2019'),
    (
        "How many events start before 2019?",
        "count",
        "SELECT count(*) FROM events WHERE start < '2019-01-01'",
    ),
    ("How many logs are there?", "count", "SELECT count(*) FROM logs"),
    (
        "List the building of the department with the largest budget.",
        "top",
        (
            "SELECT building FROM department ORDER BY budget DESC NULLS LAST FETCH FIRST 1 ROWS "
            "WITH TIES"
        ),
    ),
    (
        "List the buildings of departments in order of the number of students.",
        "group",
        (
            'SELECT department.building FROM "Student" JOIN department ON "Student".dept_name = '
            "department.dept_name GROUP BY department.building ORDER BY count(*) ASC, "
            "department.building ASC"
        ),
    ),
    (
        "What is the fee of the club with the highest fee?",
        "top",
        ('SELECT fee FROM "Ref_Clubs" ORDER BY fee DESC NULLS LAST FETCH FIRST 1 ROWS WITH TIES'),
    ),
    (
        ("What is the average height of students whose age is above the average age of students?"),
        "average",
        'SELECT avg("Height") FROM "Student" WHERE "Age" > (SELECT avg("Age") FROM "Student")',
    ),
    (
        "What are the first names of students who are taller than 170?",
        "comparison",
        'SELECT "Fname" FROM "Student" WHERE "Height" > 170',
    ),
    (
        "What are the first names of students who are younger than 20 years?",
        "comparison",
        'SELECT "Fname" FROM "Student" WHERE "Age" < 20',
    ),
    (
        "For each department name, how many students are there?",
        "group",
        'SELECT dept_name, count(*) FROM "Student" GROUP BY dept_name',
    ),
    (
        "Which courses have the most takes?",
        "top",
        (
            "SELECT course.title FROM takes JOIN course ON takes.course_id = course.course_id "
            "GROUP BY course.course_id, course.title ORDER BY count(*) DESC NULLS LAST FETCH "
            "FIRST 1 ROWS WITH TIES"
        ),
    ),
    (
        "What is the title of courses without takes?",
        "negation",
        (
            "SELECT course.title FROM course WHERE NOT EXISTS (SELECT 1 FROM takes WHERE "
            "course.course_id = takes.course_id)"
        ),
    ),
    (
        'How many students do not have takes whose grade is "A" or "B"?',
        "negation",
        (
            'SELECT count(*) FROM "Student" WHERE NOT EXISTS (SELECT 1 FROM takes WHERE '
            '"Student"."StuID" = takes."StuID" AND takes.grade IN (\'A\', \'B\'))'
        ),
    ),
    (
        "How many departments do the students have?",
        "count",
        (
            'SELECT count(*) FROM department WHERE EXISTS (SELECT 1 FROM "Student" WHERE '
            'department.dept_name = "Student".dept_name)'
        ),
    ),
]
SHOP_UNCLEAR = [
    # lists of rows: some of them are no answer
    (
        "Show the names of customers and the names of products they bought.",
        "list",
        "attribute_missing",
        (),
    ),
    ("Show the sporty customers.", "list", "not_computable", ("sporty",)),
    ("Show the names of messages", "list", "attribute_missing", ()),
    ("Sort the names of customers by age.", "list", "not_computable", ("age",)),
    ("Show the information and names of customers.", "list", "ambiguous", ("information",)),
    ("Show the customer name and product name of order items.", "list", "attribute_missing", ()),
    ("Which customers have an age of", "list", "not_computable", ()),
    (
        "How many customers live in Brazil and are older than 30 or younger than 20?",
        "comparison",
        "ambiguous",
        ("or",),
    ),
    ("How many customers do not live in Brazil or in France?", "negation", "ambiguous", ("or",)),
    (
        "How many customers live in Brazil or have orders whose total is over 5?",
        "count",
        "not_computable",
        ("orders",),
    ),
    ("What are the average ages of customers they bought?", "average", "not_computable", ("they",)),
    ("How many customers are from Brazil and Paris?", "count", "ambiguous", ("Brazil",)),
    ("How many suppliers created in 2001?", "count", "ambiguous", ("2001",)),
    ("What is the share of customers?", "share", "not_computable", ("share",)),
    (
        "What share of customers in Brazil are active?",
        "share",
        "not_computable",
        ("share",),
    ),
    ("What is the share of customers per city?", "share", "not_computable", ("share",)),
    ("How many cities are there?", "count", "ambiguous", ("city",)),
    ("What is the total of orders?", "sum", "not_computable", ()),
    ("What is the name of the product with the highest rank?", "top", "not_computable", ("rank",)),
    (
        "List the ids of orders with total less than 10 or more than 20.",
        "sum",
        "not_computable",
        ("more",),
    ),
    ("List the ids of orders placed after 2020-05-01.", "date_range", "ambiguous", ("2020-05-01",)),
    ("How many orders are there in 2019?", "count", "ambiguous", ("2019",)),
    ("How many orders were placed last year?", "count", "ambiguous", ("2025",)),
    ("How many customers have is active true?", "count", "not_computable", ("true",)),
    ("How many customers have no phone number?", "negation", "not_computable", ("phone_number",)),
    (
        "What are the names of products with price less than 5 and price more than 10?",
        "comparison",
        "ambiguous",
        ("and",),
    ),
    ("What is the average price of products of suppliers?", "average", "attribute_missing", ()),
    (
        "How many products does each supplier have? Show the supplier name.",
        "group",
        "ambiguous",
        ("each",),
    ),
    (
        "List the names of customers whose age is at most 20 or at least 60.",
        "top",
        "not_computable",
        ("at",),
    ),
    (
        "How many orders have an order date after 12/03/2019?",
        "count",
        "not_computable",
        ("12/03/2019",),
    ),
    (
        "How many orders have an order date that is not 2019?",
        "negation",
        "ambiguous",
        ("order_date",),
    ),
    (
        "How many orders have an order date of 2019-02-31?",
        "count",
        "not_computable",
        ("2019-02-31",),
    ),
    ("How many customers are longer than 5?", "comparison", "attribute_missing", ("longer",)),
    (
        "How many products have a category higher than 5?",
        "comparison",
        "not_computable",
        ("category",),
    ),
    ("What is the average category of products?", "average", "not_computable", ("category",)),
    ("What is the highest category of products?", "top", "not_computable", ("category",)),
    ("What are the average and category of products?", "average", "not_computable", ()),
    (
        "For each customer, show the name and the number of orders.",
        "group",
        "attribute_missing",
        (),
    ),
    ("For each city, show the names of customers.", "group", "ambiguous", ("each",)),
    (
        "What are the names of products with more than 2 suppliers?",
        "comparison",
        "ambiguous",
        ("suppliers",),
    ),
    (
        "What are the names of customers who have at least 2 paid orders?",
        "top",
        "not_computable",
        ("at",),
    ),
    (
        (
            "What are the names of products with orders and order items whose quantity is more "
            "than 3?"
        ),
        "comparison",
        "not_computable",
        ("order",),
    ),
    (
        "What are the cities of customers with an average phone number of more than 30?",
        "count",
        "not_computable",
        ("phone_number",),
    ),
    (
        "What is the average age of customers with an average age of more than 30?",
        "average",
        "ambiguous",
        ("what to group by",),
    ),
    ("List the number of customers in ascending order.", "count", "ambiguous", ("order",)),
    ("List customers by age and name in alphabetical order.", "list", "not_computable", ("age",)),
    (
        "List the prices of products in descending order of the lowest price.",
        "top",
        "ambiguous",
        ("order",),
    ),
    (
        "What are the names of customers not between 20 and 30?",
        "negation",
        "not_computable",
        ("between",),
    ),
    (
        "What are the names of customers whose age is not between 20 and 30?",
        "negation",
        "ambiguous",
        ("between",),
    ),
    (
        "What are the names of customers whose city contains more than 3?",
        "comparison",
        "not_computable",
        ("city",),
    ),
    (
        "What are the names of customers who never sent messages?",
        "negation",
        "ambiguous",
        ("how customers and messages are linked",),
    ),
    (
        (
            "What are the names of customers that have no orders with total above 10 and total "
            "below 20?"
        ),
        "negation",
        "ambiguous",
        ("and",),
    ),
    ("How many suppliers opened before open year 1999?", "count", "ambiguous", ("open_year",)),
    (
        "How many orders are there after order date 2019-05-06 or later?",
        "top",
        "not_computable",
        ("later",),
    ),
    ("How many products contain Furniture?", "count", "not_computable", ("contain",)),
    ("How many orders placed by customers in 2019?", "count", "ambiguous", ("2019",)),
    (
        "Show the names of customers. Show the 3 most common cities.",
        "top",
        "not_computable",
        ("Show",),
    ),
    ("Show the location for each store.", "group", "ambiguous", ("each",)),
    (
        "Show the locations and the number of stores for each store.",
        "group",
        "ambiguous",
        ("each",),
    ),
    ("Show the number of orders and the number of products.", "count", "ambiguous", ("number",)),
    ("Show the number of order id.", "count", "ambiguous", ("order_id",)),
    (
        "What are the names of suppliers with the highest number of rank of products?",
        "top",
        "attribute_missing",
        (),
    ),
    (
        "What are the names of customers who have no orders with total above 10 and messages?",
        "negation",
        "not_computable",
        ("messages",),
    ),
    (
        "What are the names of products whose price is above the average price of Toys?",
        "average",
        "ambiguous",
        ("average",),
    ),
    (
        "What are the names of products with orders whose status is paid but no suppliers?",
        "negation",
        "not_computable",
        ("suppliers",),
    ),
    (
        "How many products whose category is above average?",
        "count",
        "not_computable",
        ("category",),
    ),
    (
        'How many customers have a joined date that contains "2019"?',
        "count",
        "not_computable",
        ("joined_date",),
    ),
    (
        "How many customers have a joined date of 2019 or 2020?",
        "count",
        "not_computable",
        ("joined_date",),
    ),
    ('How many customers have an is active of "yes"?', "count", "not_computable", ("is_active",)),
    ("How many customers have an age that is Paris?", "count", "not_computable", ("Paris",)),
    ("How many customers from Paris or Brazil?", "count", "ambiguous", ("Paris",)),
    ("How many customers are older than Paris?", "comparison", "not_computable", ("older",)),
    ("How many orders are older than 5?", "comparison", "attribute_missing", ("older",)),
    (
        "How many stores have orders?",
        "count",
        "not_computable",
        ("how store_detail and orders are linked",),
    ),
    ("What is the average quantity of products?", "average", "attribute_missing", ()),
    ("How many products are there for each supplier name?", "group", "attribute_missing", ()),
    ("How many order items are there for each customer name?", "group", "attribute_missing", ()),
    (
        "What is the total price of products of each supplier name?",
        "group",
        "attribute_missing",
        (),
    ),
    (
        (
            "How many customers have both orders whose status is paid and orders whose status is "
            "cancelled?"
        ),
        "count",
        "not_computable",
        ("orders",),
    ),
    (
        "How many orders have a status of paid in both paid and on hold?",
        "count",
        "ambiguous",
        ("and",),
    ),
    (
        "How many products have a supplier from Brazil and supplier country Japan?",
        "count",
        "ambiguous",
        ("and",),
    ),
    ("How many products have 2 suppliers?", "count", "ambiguous", ("suppliers",)),
    ("What is the number of customers with the most orders?", "count", "ambiguous", ("number",)),
    (
        "What are the names of customers with no orders and no messages?",
        "negation",
        "not_computable",
        ("messages",),
    ),
    (
        "What are the names of products without order items and orders whose status is paid?",
        "negation",
        "not_computable",
        ("orders",),
    ),
    (
        "How many suppliers opened after open year and country?",
        "count",
        "not_computable",
        ("after",),
    ),
    ("How many products designed with the highest price?", "top", "not_computable", ("designed",)),
    ("How many customers interested in Paris?", "count", "not_computable", ("interested",)),
    (
        "How many customers interested in Brazil customers?",
        "count",
        "not_computable",
        ("interested",),
    ),
    ("How many suppliers founded in 2001?", "count", "not_computable", ("founded",)),
    (
        "Show the price of each customer and the number of orders.",
        "group",
        "not_computable",
        ("number",),
    ),
    ("How many customers are later than 5?", "comparison", "not_computable", ("later",)),
    (
        "Show the body of each message and the number of customers.",
        "group",
        "not_computable",
        ("what tells rows of messages apart",),
    ),
    (
        "What are the names of products with the highest number of supplier id?",
        "top",
        "ambiguous",
        ("supplier_id",),
    ),
    ("Show all cities without orders.", "negation", "not_computable", ()),
    ("How many customers with orders of products?", "count", "ambiguous", ("products",)),
    (
        "What are the names of customers and order ids without orders?",
        "negation",
        "not_computable",
        ("columns of several tables",),
    ),
    (
        (
            "What are the names of customers with both ages over 5 and orders whose status is "
            'both "paid" and "on hold"?'
        ),
        "comparison",
        "not_computable",
        ("orders",),
    ),
    (
        (
            "What are the names of customers who have no orders whose status is paid with order "
            "items whose quantity is 3?"
        ),
        "negation",
        "ambiguous",
        ("orders",),
    ),
    (
        "What are the names of customers with more than 2 orders and the most orders?",
        "top",
        "ambiguous",
        ("orders",),
    ),
    (
        "Show the customer name, product name and number of order items.",
        "count",
        "attribute_missing",
        (),
    ),
    (
        "Show the status of orders and the number of orders for each customer city.",
        "group",
        "attribute_missing",
        (),
    ),
    ("How many products used 2 products?", "count", "not_computable", ("2",)),
    (
        "What are the names of customers with an order whose total is not 5?",
        "negation",
        "ambiguous",
        ("orders",),
    ),
    (
        ("What are the names of customers with an order whose total is not 5 and status is paid?"),
        "negation",
        "ambiguous",
        ("and",),
    ),
    (
        "What are the names of customers whose age is not between 5 and 6 years?",
        "negation",
        "not_computable",
        ("years",),
    ),
    (
        "How many customers have an age between Paris and Ghent?",
        "count",
        "not_computable",
        ("Paris",),
    ),
    ('How many orders have a total that is "abc"?', "count", "not_computable", ("abc",)),
    (
        "How many customers have a joined date from 5 to 6 in between 2019-01-01 and 2019-03?",
        "count",
        "not_computable",
        ("5",),
    ),
    ("How many customers joined other than 2019?", "count", "ambiguous", ("joined_date",)),
    ("Which customers live outside Paris?", "comparison", "not_computable", ("outside",)),
    ("How many orders placed the most orders?", "count", "ambiguous", ("what to group by",)),
    ("How many suppliers created highest open year?", "top", "not_computable", ("created",)),
    ("How many products sold in Paris?", "count", "not_computable", ("sold",)),
    ("How many suppliers opened in year 1999 and 2001?", "count", "ambiguous", ("and",)),
    ("How many suppliers are there in year 1999 and 2001?", "count", "not_computable", ("2001",)),
    ('How many products have a price that contains "5"?', "count", "not_computable", ("price",)),
    (
        'How many customers have a joined date which contains "2019"?',
        "count",
        "not_computable",
        ("joined_date",),
    ),
    (
        "Show each category and the number of products in descending order of price.",
        "group",
        "ambiguous",
        ("order",),
    ),
    (
        "List the number of products with the highest price.",
        "top",
        "ambiguous",
        ("what to group by",),
    ),
    (
        "Show the name of each customer and the number of order items.",
        "group",
        "not_computable",
        ("groups over several tables",),
    ),
    (
        (
            "What are the names of products that have suppliers whose country is Japan and that "
            "do not have order items?"
        ),
        "negation",
        "ambiguous",
        ("not",),
    ),
    (
        "How many orders have a status whose status is Paris?",
        "count",
        "not_computable",
        ("status",),
    ),
    ("How many orders have a status of Paris?", "count", "entity_missing", ("Paris",)),
    ("How many orders have status Paris?", "count", "entity_missing", ("Paris",)),
]
SCHOOL_UNCLEAR = [
    (
        "What are the titles of courses that no student takes?",
        "negation",
        "not_computable",
        ("takes",),
    ),
    ("How many students take courses?", "count", "attribute_missing", ()),
    ("What is the longest title?", "top", "not_computable", ()),
    (
        "Find the name of the departments with the highest average age of students.",
        "top",
        "attribute_missing",
        (),
    ),
    (
        (
            "What are the names of students in the Physics department but not the Biology "
            "department?"
        ),
        "negation",
        "attribute_missing",
        (),
    ),
    ("How many students does the Physics department not have?", "negation", "not_computable", ()),
    ("What is the average age for male and female students?", "average", "ambiguous", ("and",)),
    ("How many students are 18?", "count", "not_computable", ("18",)),
    ("What are the courses of each department?", "group", "ambiguous", ("each",)),
    ("How many students take takes?", "count", "not_computable", ("StuID",)),
    (
        "What are the names of departments with more than 2 students and no courses?",
        "negation",
        "not_computable",
        ("courses",),
    ),
    (
        "What is the first name of students whose age is above the average height?",
        "average",
        "not_computable",
        ("height",),
    ),
    (
        "What are the titles of courses that have takes with no grade?",
        "negation",
        "not_computable",
        ("grade",),
    ),
    (
        (
            'What are the first names of students with no takes of courses whose title is "World '
            'History"?'
        ),
        "negation",
        "ambiguous",
        ("how Student and course are linked",),
    ),
    (
        "What is the average budget of departments of students?",
        "average",
        "not_computable",
        ("a join that repeats rows",),
    ),
    (
        "Show the name of the department with no students and the number of courses.",
        "negation",
        "not_computable",
        ("number",),
    ),
    (
        "How many courses without students?",
        "negation",
        "ambiguous",
        ("how course and Student are linked",),
    ),
    (
        "How many courses have students?",
        "count",
        "ambiguous",
        ("how course and Student are linked",),
    ),
]
NOT_COMPUTED = [
    ("shop", "What are the names of suppliers and their products?"),
    ("shop", "What are the names of customers of orders?"),
    ("shop", "Show all countries."),
    ("shop", "What are the names of customers who sent messages?"),
    ("shop", "Tell me a joke."),
    ("shop", "What is the meaning of life?"),
    ("school", "What are the titles of courses in both the Physics and Biology departments?"),
    ("school", "What is the city code of the students named Kim?"),
    ("shop", "What is the status of order 5?"),
    ("shop", "Which orders have id 5 or 6?"),
    ("shop", "What are the names of customers whose name ends with 100%_\\ ?"),
    ("shop", "What are the names of customers with order items?"),
    ("shop", "What are the names of 3 customers?"),
    ("shop", 'What are the names of customers in "Atlantis"?'),
    ("shop", "What are the names of customers whose city is Atlantis?"),
    ("shop", "What are the names of customers whose age is Paris?"),
    ("shop", 'What are the names of customers whose age contains "3"?'),
    ("shop", "What are the names of customers from Paris and Ghent?"),
    ("school", "What are the titles of courses taken by students whose sex is F?"),
    ("shop", "How many"),
    ("shop", 'What are the names and ids of customers which contain "a"?'),
    ("shop", "What are the names of customers with messages?"),
    ("shop", "What are the names of customers from Japan?"),
    ("shop", "What are the names of products from Japan?"),
    ("shop", "Show all the ids."),
    ("school", "What are the buildings of departments of students from HKG?"),
    (
        "school",
        (
            'What are the first names of students with takes and courses whose title is "World '
            'History"?'
        ),
    ),
    ("shop", "Show the prices and cities with product rank 3."),
    (
        "shop",
        "What are the names of customers who have orders and order items whose quantity is 3?",
    ),
    ("school", 'Which student names contain "a"?'),
    ("shop", "What are the names of customers who cancelled orders?"),
    ("shop", "What are the names of customers who bought products?"),
    (
        "shop",
        ("What are the names of products that have suppliers both from Japan and opened in 2001?"),
    ),
    ("shop", "What are the names of products whose price is 5 weight?"),
]


@pytest.mark.parametrize(("question", "intent", "sql"), SHOP_CERTAIN)
def test_a_question_over_the_shop_has_one_certain_statement(
    question: str, intent: str, sql: str
) -> None:
    planned = plan(question, SHOP, SHOP_VALUES, TODAY)
    assert isinstance(planned, Certain), planned
    assert (planned.sql, planned.intent, planned.coverage) == (sql, intent, 1.0)


@pytest.mark.parametrize(("question", "intent", "sql"), SCHOOL_CERTAIN)
def test_a_question_over_the_school_has_one_certain_statement(
    question: str, intent: str, sql: str
) -> None:
    planned = plan(question, SCHOOL, SCHOOL_VALUES, TODAY)
    assert isinstance(planned, Certain), planned
    assert (planned.sql, planned.intent, planned.coverage) == (sql, intent, 1.0)


@pytest.mark.parametrize(("question", "intent", "kind", "missing"), SHOP_UNCLEAR)
def test_a_question_over_the_shop_is_refused_with_what_was_unclear(
    question: str, intent: str, kind: str, missing: tuple[str, ...]
) -> None:
    planned = plan(question, SHOP, SHOP_VALUES, TODAY)
    assert isinstance(planned, Unclear), planned
    assert (planned.intent, planned.kind, planned.missing) == (intent, kind, missing)


@pytest.mark.parametrize(("question", "intent", "kind", "missing"), SCHOOL_UNCLEAR)
def test_a_question_over_the_school_is_refused_with_what_was_unclear(
    question: str, intent: str, kind: str, missing: tuple[str, ...]
) -> None:
    planned = plan(question, SCHOOL, SCHOOL_VALUES, TODAY)
    assert isinstance(planned, Unclear), planned
    assert (planned.intent, planned.kind, planned.missing) == (intent, kind, missing)


@pytest.mark.parametrize(("world", "question"), NOT_COMPUTED)
def test_a_question_that_asks_for_no_computing_is_left_to_search(world: str, question: str) -> None:
    schema, values = (SHOP, SHOP_VALUES) if world == "shop" else (SCHOOL, SCHOOL_VALUES)
    assert plan(question, schema, values, TODAY) == NotComputed()
